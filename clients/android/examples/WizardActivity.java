import android.app.Activity;
import android.os.Bundle;
import android.util.Log;
import android.widget.ImageView;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import rossum.oz.Expression;
import rossum.oz.Face;
import rossum.oz.LookAt;
import rossum.oz.OzClient;
import rossum.oz.OzException;
import rossum.oz.OzListener;
import rossum.oz.Utterance;
import rossum.oz.android.AndroidOzClient;

/** A small Wizard of Oz: shows what the robot sees, greets people and answers them, while the activity is on the screen. */
public class WizardActivity extends Activity implements OzListener {
    private static final String TAG = "Wizard";
    /** That of the robot's computer, seen from an emulator. */
    private static final String HOST = "10.0.2.2";

    private AndroidOzClient robot;
    private boolean seesSomebody;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        ImageView view = new ImageView(this);
        setContentView(view);
        robot = new AndroidOzClient(OzClient.builder(HOST).reconnect(Duration.ofSeconds(2)));
        robot.addListener(this);
        robot.addBitmapListener(view::setImageBitmap);
        robot.follow(this, error -> Log.i(TAG, "not connected: " + error.getMessage()));
    }

    @Override
    protected void onDestroy() {
        robot.removeListener(this);
        super.onDestroy();
    }

    @Override
    public void onConnected(String name, String longName) {
        Log.i(TAG, "operating " + name + ": " + longName);
        robot.setLookAt(LookAt.LARGEST);
        robot.setRandomEyesWeight(0.3); // eyes that never move look dead
    }

    @Override
    public void onDisconnected(OzException reason) {
        Log.i(TAG, "disconnected" + (reason == null ? "" : ": " + reason.getMessage()));
    }

    @Override
    public void onFaces(List<Face> faces) {
        if (!faces.isEmpty() && !seesSomebody) {
            Face nearest = faces.stream().max(Comparator.comparing(face -> face.width() * face.height())).get();
            robot.setExpression(Expression.HAPPY);
            robot.speak("[braises]Hello " + nearest.name() + "! [wob]Nice to see you.")
                    .thenRun(() -> robot.setExpression(Expression.NEUTRAL));
        }
        seesSomebody = !faces.isEmpty();
    }

    @Override
    public void onUtterance(Utterance utterance) {
        Log.i(TAG, "hears " + utterance.text());
        robot.speak("[yess3]I see. [braisel]Tell me more.");
    }
}
